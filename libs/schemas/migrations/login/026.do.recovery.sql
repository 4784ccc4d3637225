-- The token that the command `recover` has created last, which the next one revokes.
alter table login.root_token add column recovery_accessor text;
