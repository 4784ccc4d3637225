import { z } from 'zod';
import { withTags } from '../store/secret-limits.ts';
import { changeable, operation } from './operation.ts';

export const SentTags = z
  .array(z.object({ Key: z.string().optional(), Value: z.string().optional() }))
  .max(1000);

export const tagResource = operation(z.object({ SecretId: z.string(), Tags: SentTags }), (realm, input) => {
  const secret = changeable(realm, input.SecretId);
  secret.tags = withTags(secret.tags, input.Tags);
  secret.changedAtMs = realm.nowMs;
  realm.shelf.save(secret);
  return {};
});

export const untagResource = operation(
  z.object({ SecretId: z.string(), TagKeys: z.array(z.string()).max(1000) }),
  (realm, input) => {
    const secret = changeable(realm, input.SecretId);
    for (const key of input.TagKeys) secret.tags.delete(key);
    secret.changedAtMs = realm.nowMs;
    realm.shelf.save(secret);
    return {};
  },
);
