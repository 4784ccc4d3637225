import type { Db } from '@secrets/db';

/** The dependencies of a use case without keys or login methods: the part of `Context` that does not depend on use cases. */
export interface DbContext {
  db: Db;
}
