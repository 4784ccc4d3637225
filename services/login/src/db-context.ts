import type { Db } from '@secrets/db';

/** What a use case without keys or login methods uses: the part of `Context` that does not depend on use cases. */
export interface DbContext {
  db: Db;
}
