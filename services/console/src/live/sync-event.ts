/** The fields of an event that the console reads. */
export interface SyncEvent {
  kind: string;
  /** The destination, where there is one. */
  type?: string;
  name?: string;
  mount?: string;
  secret_name?: string;
}

/** Returns the event in the data of a frame; undefined if it is not one. */
export function parseEvent(data: string): SyncEvent | undefined {
  try {
    const parsed: unknown = JSON.parse(data);
    return isEvent(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const isEvent = (parsed: unknown): parsed is SyncEvent =>
  typeof parsed === 'object' && parsed !== null && 'kind' in parsed && typeof parsed.kind === 'string';
