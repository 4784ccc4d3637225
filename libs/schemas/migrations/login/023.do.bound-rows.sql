-- A keyed hash of the columns that never change after the insert, without which a token is not believed (libs/access/src/rows). Null in
-- rows of an earlier version.
alter table login.tokens add column row_hash text;
