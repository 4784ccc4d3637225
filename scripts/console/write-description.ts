// Writes what the console is generated from: the description of the API, and the fields of destinations. `npm run generate` in
// services/console, which makes the client.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeApi } from './describe-api.ts';
import { describeDestinations } from './describe-destinations.ts';

const target = fileURLToPath(new URL('../../services/console/src/api/generated', import.meta.url));
mkdirSync(target, { recursive: true });

const api = await describeApi();
writeFileSync(join(target, 'openapi.json'), JSON.stringify(api));
writeFileSync(join(target, 'destination-types.json'), JSON.stringify(describeDestinations(api)));
