import { describeDb } from './conformance.ts';
import { openTestDb } from './testing.ts';

describeDb(process.env.TEST_DATABASE_URL === undefined ? 'PGlite' : 'Postgres', openTestDb);
