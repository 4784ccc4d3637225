import type { EventRow } from '../../queries/events/events.ts';

/** The name of the plugin in the event types. */
const plugin = 'kv-v2';

export const eventType = (kind: string): string => `${plugin}/${kind}`;

/** Whose path an event names first: what was requested. */
const folders: Readonly<Record<string, string>> = {
  ...{ 'data-write': 'data', 'data-patch': 'data', 'data-delete': 'data' },
  ...{ 'metadata-write': 'metadata', 'metadata-patch': 'metadata', 'metadata-delete': 'metadata' },
};

/** Kinds after which there is nothing to read. */
const withoutData: ReadonlySet<string> = new Set(['data-delete', 'destroy', 'metadata-delete']);

const versionsField: Readonly<Record<string, string>> = {
  delete: 'deleted_versions',
  undelete: 'undeleted_versions',
  destroy: 'destroyed_versions',
};

/** The path of what an event is about: the value of a secret, or its metadata. */
export const dataPathOf = ({ kind, mount, path }: PresentEvent): string =>
  `${mount}/${kind.startsWith('metadata') ? 'metadata' : 'data'}/${path}`;

/** An event under a mount that is still there. */
export type PresentEvent = EventRow & { mount: string };

/**
 * Presents an event in the JSON format of CloudEvents 1.0, with the fields of Vault
 * (https://developer.hashicorp.com/vault/docs/concepts/events). It contains no value.
 */
export function cloudEvent(row: PresentEvent, source: string) {
  const { kind, mount, path, accessor, namespacePath, at, currentVersion, oldestVersion, versions } = row;
  const folder = folders[kind] ?? kind;
  const id = idOf(row);
  const metadata = {
    ...(currentVersion !== null && { current_version: String(currentVersion) }),
    ...(withoutData.has(kind) ? {} : { data_path: dataPathOf(row) }),
    ...(versions !== null && kind in versionsField && { [versionsField[kind]!]: JSON.stringify(versions) }),
    modified: 'true',
    ...(oldestVersion !== null && { oldest_version: String(oldestVersion) }),
    operation: kind,
    path: `${mount}/${folder}/${path}`,
  };
  return {
    id,
    source,
    specversion: '1.0',
    type: '*',
    data: {
      event: { id, metadata },
      event_type: eventType(kind),
      namespace: namespacePath === '' ? '' : `${namespacePath}/`,
      plugin_info: {
        mount_class: 'secret',
        mount_accessor: accessor,
        mount_path: `${mount}/`,
        plugin: 'kv',
        version: '2',
      },
    },
    datacontentype: 'application/cloudevents',
    time: at.toISOString(),
  };
}

/** A UUID that is equal for each listener: that of the event's place, so that a client can recognize one that it gets twice. */
const idOf = ({ xid, id }: EventRow): string => {
  const hex = BigInt(xid).toString(16).padStart(16, '0') + BigInt(id).toString(16).padStart(16, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
