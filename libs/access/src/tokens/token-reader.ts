import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { AccessChanges } from '../changes/access-changes.ts';
import type { Epoch } from '../changes/epoch.ts';
import { type AtEpoch, readBatchToken, readServiceToken } from '../read-access.ts';
import type { RowGuard } from '../rows/row-guard.ts';
import { tokenRow } from '../rows/token-row.ts';
import { type AccessToken, fromServiceToken, parseBatchToken } from './access-token.ts';
import { epochCache } from './epoch-cache.ts';
import { batchTokenKeyRing, tokenHash, tokenKind } from './token.ts';

export interface TokenReader {
  /** Finds a token by its text, if it exists and has not expired. Does not consume a use. */
  find(text: string): Promise<FoundToken | undefined>;
}

export interface FoundToken {
  readonly token: AccessToken;
  readonly hash: Buffer;
  /** The epoch at which it was valid, after the call. */
  readonly epoch: Epoch;
}

export interface TokenReaderOptions {
  db: Db;
  keys: InternalKeys;
  changes: AccessChanges;
  clock: () => number;
  rows: RowGuard;
}

const maxTokens = 20_000;
/** Total of address ranges and ancestors in the cache. Each takes 0.5 kB of memory. */
const maxWeight = 200_000;

/** Reads tokens, through a cache that follows every change. */
export function tokenReader({ db, keys, changes, clock, rows }: TokenReaderOptions): TokenReader {
  const keyRing = batchTokenKeyRing(keys);
  const cache = epochCache<AccessToken>({
    changes,
    maxEntries: maxTokens,
    tagsOf: ({ tags }) => tags,
    weightOf: ({ tags, boundTo }) => tags.length + (boundTo?.size ?? 0) + 1,
    maxWeight,
  });

  const readService = async (hash: Buffer): Promise<AtEpoch<AccessToken>> => {
    const { epoch, row } = await readServiceToken(db, hash);
    const isBelieved = row !== undefined && rows.accepts(tokenRow(hash, row), row.row_hash);
    return { epoch, row: isBelieved ? fromServiceToken(row) : undefined };
  };
  const readBatch = async (text: string): Promise<AtEpoch<AccessToken>> => {
    const opened = parseBatchToken(keyRing, text);
    if (opened === undefined) return { epoch: '', row: undefined };
    const { epoch, row } = await readBatchToken(db, opened.payload);
    return { epoch, row: row === undefined ? undefined : opened.toToken(row) };
  };
  const isExpired = (token: AccessToken) => token.expiresAt !== undefined && token.expiresAt <= clock();

  return {
    find: async (text) => {
      const kind = tokenKind(text);
      if (kind === undefined) return undefined;
      const hash = tokenHash(text);
      const key = hash.toString('latin1');
      const read = () => (kind === 'service' ? readService(hash) : readBatch(text));
      let found = await cache.get(key, read);
      if (found.row !== undefined && isExpired(found.row)) {
        cache.remove(key); // it may have been renewed, which changes no epoch
        found = await cache.get(key, read);
      }
      const { epoch, row: token } = found;
      return token === undefined || isExpired(token) ? undefined : { token, hash, epoch };
    },
  };
}
