-- The trace that a message belongs to, as in the header of W3C Trace Context; null if it is not traced.
alter table broker.messages add column traceparent text;
