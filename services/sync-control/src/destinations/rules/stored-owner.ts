import { StoredIdentity } from '@secrets/access';
import { canonicalJson } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import { z } from 'zod';
import type { RuleSelection } from '../../queries/rules/rules.ts';

const StoredOwner = z.object({ identity: StoredIdentity, since: z.string() });

/** Whose rights a rule has, and since when. */
export type StoredOwner = z.infer<typeof StoredOwner>;

type Bound = Pick<RuleSelection, 'mountId' | 'path' | 'exclude' | 'metadataMatch'> & { id: string };

/** The associated data of the sealed owner of a rule: what the owner has written. The path of the mount may change. */
export const ownerAad = ({ id, mountId, path, exclude, metadataMatch }: Bound): string =>
  `sync.rules:${canonicalJson({ id, mountId, path, exclude: [...exclude], metadataMatch: { ...metadataMatch } })}`;

/** Encrypts the owner of a rule: a row that was changed by somebody else cannot have the rights of the owner. */
export const sealOwner = (keyRing: KeyRing, rule: Bound, owner: StoredOwner): Buffer =>
  encrypt(keyRing, ownerAad(rule), Buffer.from(JSON.stringify(owner)));

/** @throws SealError if the row was changed, or its key is unknown */
export const openOwner = (keyRing: KeyRing, rule: Bound & { sealedOwner: Uint8Array }): StoredOwner =>
  StoredOwner.parse(JSON.parse(decrypt(keyRing, ownerAad(rule), rule.sealedOwner).toString()));
