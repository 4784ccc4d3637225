import { batchTokenKeyRing, openBatchToken } from '@secrets/access';
import { invalid } from '@secrets/domain';
import { z } from 'zod';
import type { Context } from '../../context.ts';

export const TokenBody = z.object({ token: z.string().min(1) });
export const AccessorBody = z.object({ accessor: z.string().min(1) });

/** Throws `invalid` if the text is a batch token; `verb` completes "a batch token cannot be". */
export function refuseBatch({ keys }: Context, token: string, verb: string): void {
  if (openBatchToken(batchTokenKeyRing(keys), token) !== undefined)
    throw invalid(`token: a batch token cannot be ${verb}`);
}
