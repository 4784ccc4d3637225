import { z } from 'zod';

/** The work queue of a destination type. A message means "process this entry", and contains only ids. */
export const syncQueue = (destinationType: string): string => `sync.${destinationType.toLowerCase()}`;

export const EntryMessage = z.object({ entry_id: z.uuid(), destination_id: z.uuid() });
export type EntryMessage = z.infer<typeof EntryMessage>;

/** The queue on which `secrets` announces that a watched secret may have changed. */
export const secretChangesQueue = 'secret-changes';

export const SecretChangedMessage = z.object({ secret_id: z.uuid() });
export type SecretChangedMessage = z.infer<typeof SecretChangedMessage>;
