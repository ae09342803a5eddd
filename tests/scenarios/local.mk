# scenarios
