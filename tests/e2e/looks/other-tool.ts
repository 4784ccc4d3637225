import { destinationTypes } from '../../../libs/destinations/src/index.ts';
import { createEgressGuard } from '../../../libs/egress/src/egress-guard.ts';
import { seal } from '../../../libs/seal/src/index.ts';
import { parsedSettings } from '../../../libs/sync-worker/src/driver/parsed-settings.ts';
import { ScopeMemory } from '../../../libs/sync-worker/src/driver/scope-memory.ts';
import { putRequest } from '../../../libs/sync-worker/src/testing.ts';
import { silentLogger } from '../../../libs/telemetry/src/index.ts';
import type { Env } from '../../../services/standalone/src/config.ts';
import { driversOf } from '../../../services/standalone/src/drivers.ts';
import type { Installation } from '../../harness/installation.ts';

/** A program that uses a store of the sandbox beside the service, which knows nothing of its calls. */
interface OtherTool {
  /** Writes a value to an external secret, whoever created it. */
  write(name: string, value: string): Promise<void>;
  close(): Promise<void>;
}

/** The store of a destination: its ID, its settings as they are stored, and the fields that it was created with. */
interface UsedStore {
  type: string;
  id: string;
  settings: Record<string, unknown>;
  fields: object;
}

const signal = () => AbortSignal.timeout(60_000);

/**
 * Connects to the store of a destination, with its fields. It leaves the marks of the destination as they are, as people do who
 * edit a value by hand.
 */
export async function otherTool(
  { sandboxUrl }: Pick<Installation, 'sandboxUrl'>,
  { type, id, settings, fields }: UsedStore,
): Promise<OtherTool> {
  const driver = driversOf(endpointsAt(sandboxUrl), undefined).find((one) => one.type === type)!;
  const credentials = Object.fromEntries(
    Object.entries(fields).filter(([name]) => isSecret.has(name)),
  ) as Record<string, string>;
  const connected = await driver.connect(
    {
      id,
      type,
      name: 'other',
      namespacePath: '',
      settings: parsedSettings(destinationTypes[type], 'other', settings),
      credentials: seal(credentials),
    },
    {
      log: silentLogger(),
      egress: createEgressGuard({}),
      prefix: 'secrets',
      scope: new ScopeMemory(null, async (id) => id),
      identityToken: async () => 'none',
      remembered: async () => [],
    },
  );
  return {
    write: async (name, value) =>
      void (await connected.put(putRequest(name, value, { overwrite: true }), signal())),
    close: () => connected.close(),
  };
}

const isSecret = new Set([
  'secret_access_key',
  'access_key_id',
  'client_secret',
  'credentials',
  'access_token',
]);

const endpointsAt = (url: string): Env =>
  ({
    CLOUDA_ENDPOINT_URL: `${url}/clouda`,
    CLOUDB_ENDPOINT_URL: `${url}/cloudb`,
    CLOUDB_AUTHORITY_URL: `${url}/directory`,
    CLOUDC_ENDPOINT_URL: `${url}/cloudc`,
    CODEHOST_ENDPOINT_URL: `${url}/codehost`,
    WEBHOST_ENDPOINT_URL: `${url}/webhost`,
  }) as Env;
