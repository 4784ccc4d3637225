-- The sweep looks for tokens whose uses are spent as often as for expired ones.
create index tokens_used_up on login.tokens (hash) where uses_left = 0;
