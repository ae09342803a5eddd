-- For pgbench: a client that prepares statements and never deallocates them, so that its backend keeps their plans.
\set number random(1, 1000000000)
\set id random(1, 100000)
prepare account_:number as select abalance from pgbench_accounts where aid = $1;
execute account_:number(:id);
