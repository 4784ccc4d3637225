-- The trace that a change belongs to, as in the header of W3C Trace Context; null if it is not traced.
alter table secrets.outbox add column traceparent text;
