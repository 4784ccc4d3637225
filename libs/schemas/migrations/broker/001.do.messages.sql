-- The queues of the embedded broker. `id` is the place in the queue: a message that is to be delivered again takes a
-- new one, at the end. Both tables are keyed by queue first, so that no statement looks at another queue's rows.
create table broker.messages (
  queue text not null,
  id bigint generated always as identity,
  message_id uuid not null default gen_random_uuid(),
  body text not null,
  deliveries int not null default 0,
  published_at timestamptz not null default now(),
  primary key (queue, id)
);

create table broker.parked (
  queue text not null,
  id bigint not null,
  message_id uuid not null,
  body text not null,
  deliveries int not null,
  published_at timestamptz not null,
  parked_at timestamptz not null default now(),
  primary key (queue, id)
);
