import type { SyncEvent } from './sync-event.ts';

type Key = readonly string[];

const everything: Key = ['sync'];
const numbers: readonly Key[] = [
  ['sync', 'status'],
  ['sync', 'throughput'],
];

/** Returns the keys of the queries whose results the event has changed. A key includes all that begin with it. */
export function staleQueries({ kind, type, name, mount, secret_name }: SyncEvent): readonly Key[] {
  const destination = [...(type && name ? [type, name] : [])];
  const secret = [...(mount && secret_name ? [mount, secret_name] : [])];
  if (kind === 'open') return [];
  if (kind === 'entry' || kind.startsWith('drift_'))
    return [
      ...numbers,
      ['sync', 'associations', 'of-destination', ...destination],
      ['sync', 'associations', 'of-secret', ...secret],
      ['sync', 'associations', 'history', ...destination, ...secret],
      ['sync', 'destinations', 'one', ...destination],
    ];
  if (kind.startsWith('association_'))
    return [
      ['sync', 'status'],
      ['sync', 'associations'],
    ];
  if (kind.startsWith('rule_')) return [['sync', 'rules', ...destination]];
  if (kind === 'destination_paused' || kind === 'destination_reopened' || kind.startsWith('lane_'))
    return [
      ['sync', 'status'],
      ['sync', 'lanes'],
    ];
  if (kind === 'sync_disabled' || kind === 'sync_enabled')
    return [
      ['sync', 'status'],
      ['sync', 'installation'],
    ];
  if (kind === 'destination_created' || kind === 'destination_deleted')
    return [
      ['sync', 'status'],
      ['sync', 'destinations'],
    ];
  if (destination.length > 0)
    return [
      ['sync', 'status'],
      ['sync', 'destinations', 'one', ...destination],
    ];
  return [everything];
}
