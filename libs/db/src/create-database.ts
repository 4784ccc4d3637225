// Runs as a process of its own: makes an empty database in a folder and ends. Making one takes twice the memory of
// running one, and only a process gives all of it back. Ends with whoever started it.
import { PGlite } from '@electric-sql/pglite';

process.once('disconnect', () => process.exit(1));
const [dataDir] = process.argv.slice(2);
const database = await PGlite.create({ dataDir: dataDir! });
await database.close();
process.exit(0);
