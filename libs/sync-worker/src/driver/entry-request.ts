import type { Json } from '@secrets/domain';

/** An external secret, and what earlier calls have recorded about it. */
export interface EntryRequest {
  entryId: string;
  externalName: string;
  /**
   * What the last successful put of this entry returned, or what a later put has recorded with `recordRemote`; null if there
   * has been neither since the last removal.
   */
  remote: Json | null;
  /**
   * When a put of this entry first called `recordStart`; null if none has since the external secret was last removed, or
   * since a put failed with `conflict`. That of a put which was refused is forgotten; see `recordStart`.
   *
   * For destinations whose secrets do not show which destination wrote them. If the external secret exists and `remote` is
   * null, this decides: not null means that a put of this entry found the name free (or was permitted to take it over), and
   * may have written it before its outcome was lost, so the secret counts as its own; null means that it is foreign. A
   * destination with tags decides from the tags and ignores this.
   */
  putStartedAt: Date | null;
}
