import type { Json } from '@secrets/domain';

/** The settings that were set, as they were given, where that is not how they are stored: letter case, order, a list or a map. */
export type Given = Record<string, Json>;

/** A destination as it is stored: the settings, which are visible, and the credentials, which are encrypted. */
export interface DestinationContent {
  settings: Record<string, Json>;
  credentials: Record<string, string>;
  /** The settings that were set, as they were given (`givenFields`); null if that is not known. */
  given: Given | null;
}

/** The part that decides what the destination does. */
export type EffectiveContent = Pick<DestinationContent, 'settings' | 'credentials'>;

/** The fields that a request names: with a value, or with null. */
export interface NamedFields {
  set: readonly (readonly [string, unknown])[];
  reset: readonly string[];
}
