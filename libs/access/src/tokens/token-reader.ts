import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type AtEpoch, readBatchToken, readEpoch, readServiceToken } from '../read-access.ts';
import { type AccessToken, fromServiceToken, parseBatchToken } from './access-token.ts';
import { epochCache } from './epoch-cache.ts';
import { sharedRead } from './shared-read.ts';
import { batchTokenKeyRing, tokenHash, tokenKind } from './token.ts';

export interface TokenReader {
  /** Finds a token by its text, if it exists and has not expired. Does not consume a use. */
  find(text: string): Promise<{ token: AccessToken; hash: Buffer } | undefined>;
  /** The newest epoch that was read. After `find`, it includes everything that was committed before the call of that. */
  newestEpoch(): number;
}

const maxTokens = 20_000;
/** Limits the epoch to a few hundred reads per second, whatever the number of requests. */
const epochGapMs = 4;
/** Total of policy paths and address ranges in the cache. Each takes 0.5 kB of memory, a path with `+` up to 2.5 kB. */
const maxRules = 200_000;

/** Reads tokens, from a cache where that gives the same result. Tokens with limited uses are never cached. */
export function tokenReader(db: Db, keys: InternalKeys, clock: () => number): TokenReader {
  const keyRing = batchTokenKeyRing(keys);
  let newest = -1;
  const noted = (epoch: number): number => {
    newest = Math.max(newest, epoch);
    return epoch;
  };
  const epochNow = sharedRead(async () => noted(await readEpoch(db)), epochGapMs);
  const cache = epochCache<AccessToken>({
    epochNow,
    maxEntries: maxTokens,
    isCacheable: (token) => !token.hasLimitedUses,
    weightOf: (token) => token.rules.paths + (token.boundTo?.size ?? 0) + 1,
    maxWeight: maxRules,
  });

  const readService = async (hash: Uint8Array): Promise<AtEpoch<AccessToken>> => {
    const { epoch, row } = await readServiceToken(db, hash);
    return { epoch: noted(epoch), row: row && fromServiceToken(row) };
  };
  const readBatch = async (text: string): Promise<AtEpoch<AccessToken>> => {
    const opened = parseBatchToken(keyRing, text);
    if (opened === undefined) return { epoch: -1, row: undefined };
    const { epoch, row } = await readBatchToken(db, opened.payload);
    return { epoch: noted(epoch), row: row === undefined ? undefined : opened.toToken(row) };
  };
  const isExpired = (token: AccessToken) => token.expiresAt !== undefined && token.expiresAt <= clock();

  return {
    newestEpoch: () => newest,
    find: async (text) => {
      const kind = tokenKind(text);
      if (kind === undefined) return undefined;
      const hash = tokenHash(text);
      const key = hash.toString('latin1');
      const read = () => (kind === 'service' ? readService(hash) : readBatch(text));
      let token = await cache.get(key, read);
      if (token !== undefined && isExpired(token)) {
        cache.drop(key); // it may have been renewed, which does not change the epoch
        token = await cache.get(key, read);
      }
      return token === undefined || isExpired(token) ? undefined : { token, hash };
    },
  };
}
