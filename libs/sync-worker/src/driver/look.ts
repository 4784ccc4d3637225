import type { Belonging, Json } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { EntryRequest } from './entry-request.ts';

/** An external secret to look at, without changing it. */
export interface InspectRequest extends EntryRequest {
  /** Whether a value that the store has returned is the one to compare with. Not called where the mark is enough. */
  isSameValue(value: Sealed<string>): boolean;
}

/** An external secret as a look has found it. The facts only: what follows from them is decided by the runtime. */
export interface FoundSecret {
  exists: true;
  belongs: Belonging;
  /** Changes whenever somebody writes the value: the ID or the number of a version, or the time of the last change. */
  mark: string;
  /** The mark that the last put left, if it is a version that people know from the provider's console. */
  pushedMark?: string;
  /** Whether the mark is that of the last put, so that the value is the one that it wrote. Nothing more was read then. */
  isUntouched: boolean;
  /** `unread` if it was not needed, if the store never returns values, or not to these credentials. */
  value: 'same' | 'different' | 'unread';
  /** When it was last changed, by the store's clock; null if the store does not show it. */
  changedAt: Date | null;
  /**
   * The `remote` to store and to pass to later calls, if the value is the same, but the mark is new or shows more than is
   * remembered; absent otherwise.
   */
  remote?: Json;
}

/**
 * The result of a look at one external secret. That it is absent was said by a read of the secret itself, never by a list. A
 * secret that is scheduled for deletion is absent: its readers get an error.
 */
export type Look = { exists: false } | FoundSecret;

/** The result of a search in the lists of a store. */
export interface Untouched {
  /** The IDs of the entries whose external secrets are as the last put has left them. */
  entryIds: string[];
  /** The number of pages that were read, each of which is a call of the account's budget. */
  pages: number;
}

/** An external secret in a list. Lists lag behind, so this is a hint: a secret that is not listed may exist. */
export interface ListedSecret {
  name: string;
  /** By the marks of the store alone: `none` also for secrets of the destination where the store shows no owner. */
  belongs: Belonging;
  /** Whether the store returns its value. */
  isReadable: boolean;
  /** By the store's clock; null if the store does not show it. */
  createdAt: Date | null;
  changedAt: Date | null;
}

/** Part of a list. */
export interface ListPage {
  /** Ordered as the store orders them. May be empty although there are more. */
  secrets: ListedSecret[];
  /** Where the next page begins, at most 4,096 characters; null after the last one. */
  next: string | null;
}
