import { z } from 'zod';
import { withTags } from '../store/secret-limits.ts';
import { operation, writableSecret } from './operation.ts';

export const SentTags = z
  .array(z.object({ Key: z.string().optional(), Value: z.string().optional() }))
  .max(1000);

export const tagResource = operation(z.object({ SecretId: z.string(), Tags: SentTags }), (context, input) => {
  const secret = writableSecret(context, input.SecretId);
  secret.tags = withTags(secret.tags, input.Tags);
  secret.changedAtMs = context.nowMs;
  context.store.save(secret);
  return {};
});

export const untagResource = operation(
  z.object({ SecretId: z.string(), TagKeys: z.array(z.string()).max(1000) }),
  (context, input) => {
    const secret = writableSecret(context, input.SecretId);
    for (const key of input.TagKeys) secret.tags.delete(key);
    secret.changedAtMs = context.nowMs;
    context.store.save(secret);
    return {};
  },
);
