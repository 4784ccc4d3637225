// Writes the description of the API from which the console's client is generated: `npm run generate` in services/console.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeApi } from './describe-api.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = join(root, 'services/console/src/api/generated/openapi.json');

mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, JSON.stringify(await describeApi()));
