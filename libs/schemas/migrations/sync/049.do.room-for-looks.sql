-- Each look writes the row of its entry, and most rows never change otherwise. With room in its page, a new version of a row needs
-- no entry in the indexes. Pages that exist keep their rows.
alter table sync.entries set (fillfactor = 80);
