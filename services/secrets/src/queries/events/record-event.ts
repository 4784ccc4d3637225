/** SQL for the columns of an event, and where they come from. Each is an expression. */
interface EventSource {
  kind: string;
  mountId: string;
  path: string;
  currentVersion?: string;
  oldestVersion?: string;
  versions?: string;
  /** SQL after `from`, with a row for each event. */
  from: string;
}

/**
 * A part of a statement that changes secrets: records the change in the same transaction, if somebody listens
 * (docs/conventions/secrets.md#events).
 */
export const recordEvent = ({
  kind,
  mountId,
  path,
  currentVersion = 'null::int',
  oldestVersion = 'null::int',
  versions = 'null::int[]',
  from,
}: EventSource): string => `noticed as (
    insert into secrets.events (kind, mount_id, path, current_version, oldest_version, versions)
    select ${kind}, ${mountId}, ${path}, ${currentVersion}, ${oldestVersion}, ${versions}
    from ${from}
    where exists (select from secrets.event_listening where until > statement_timestamp())
  )`;
