import { z } from 'zod';

/** Queue of one destination type's work. Its messages say "look at entry E"; ids only. */
export const syncQueue = (destinationType: string): string => `sync.${destinationType.toLowerCase()}`;

export const EntryMessage = z.object({ entry_id: z.uuid(), destination_id: z.uuid() });
export type EntryMessage = z.infer<typeof EntryMessage>;

/** Queue on which `secrets` tells that a watched secret may read differently now. */
export const secretChangesQueue = 'secret-changes';

export const SecretChangedMessage = z.object({ secret_id: z.uuid() });
export type SecretChangedMessage = z.infer<typeof SecretChangedMessage>;
