# Answers made-up requests for SECONDS: requests.pl SECONDS. One request in a hundred makes a circle of references, which
# perl never releases, and one in twenty adds to a hash that grows for ever. The rest is sound: a table of at most 3,000
# keys, and a log of the last 3,000 lines.
use strict;
use warnings;
use Time::HiRes qw(time usleep);

my ($seconds) = @ARGV;
my $end = time + $seconds;
my (%users, %known, @order, @log);

srand(1);

sub forget {
	my $node = {text => 'x' x 80};
	$node->{self} = $node;
}

sub remember {
	my ($user) = @_;
	$users{$user} = "what is kept of $user";
}

sub answer {
	my ($request, $number) = @_;
	my %fields = map { split /=/, $_, 2 } split /&/, $request;
	my $key = $fields{key};
	if (!exists $known{$key}) {
		$known{$key} = [map { "$key has value $_ since $number" } 1 .. 3];
		push @order, $key;
		delete $known{shift @order} if @order > 3000;
	}
	push @log, "request $number asked for $key";
	shift @log if @log > 3000;
	return join ',', sort @{$known{$key}};
}

my $length = 0;
for (my $number = 1; time < $end; $number++) {
	$length += length answer('key=' . int(rand 9000) . "&agent=browser&time=$number", $number);
	forget() if $number % 100 == 0;
	remember("user $number") if $number % 20 == 0;
	usleep(300) if $number % 4 == 0;
}
print "$length\n";
