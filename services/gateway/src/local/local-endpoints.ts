import { invalid } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import type { AuditDevice } from '@secrets/telemetry';
import { z } from 'zod';
import type { AuditHash } from '../audit/audit-hash.ts';
import type { GatewaySettings } from '../settings.ts';
import { type Documents, documentEndpoints } from './documents.ts';
import type { SealRotations } from './seal-rotation.ts';

export interface LocalContext {
  settings: GatewaySettings;
  documents: Documents;
  devices: readonly AuditDevice[];
  auditHash: AuditHash;
  sealKeys: SealRotations;
}

/** Every endpoint that the gateway serves itself: documents that need no token, and what is for operators. */
export const localEndpoints = (context: LocalContext): Endpoint[] => [
  ...documentEndpoints(context.documents),
  ...forOperators(context).map(
    (each): Endpoint => ({ ...each, access: { needsSudo: true, isAdministrative: true } }),
  ),
];

/** Endpoints that need `sudo`, in the root or the administrative namespace. */
const forOperators = (context: LocalContext): Endpoint[] => [
  listDevices(context),
  readSealKeys(context),
  rotateSealKeys(context),
  hash(context),
];

const listDevices = ({ devices }: LocalContext) =>
  endpoint({
    method: 'get',
    path: '/sys/audit',
    summary: 'List the devices of the audit log',
    handle: async () => ({ data: Object.fromEntries(devices.map(presented)), isFlat: true }),
  });

const presented = ({ name, type, path }: AuditDevice) => [
  `${name}/`,
  {
    type,
    description: '',
    options: path === undefined ? {} : { file_path: path },
    local: false,
    path: `${name}/`,
  },
];

const sealKeysOfServices = { 200: 'the keys of each service' };

const readSealKeys = ({ sealKeys }: LocalContext) =>
  endpoint({
    method: 'get',
    path: '/sys/key-status',
    summary: 'Read which seal keys are in use, and the progress of their rotation',
    responses: sealKeysOfServices,
    handle: async ({ caller }) => ({ data: await sealKeys.read(caller) }),
  });

const rotateSealKeys = ({ sealKeys }: LocalContext) =>
  endpoint({
    method: 'post',
    path: '/sys/rotate',
    summary: 'Encrypt everything with the current seal keys, in the background',
    responses: sealKeysOfServices,
    handle: async ({ caller }) => ({ data: await sealKeys.begin(caller) }),
  });

/** The hash is the same for all devices; the name is part of the path because clients expect it. */
const hash = ({ devices, auditHash }: LocalContext) =>
  endpoint({
    method: 'post',
    path: '/sys/audit-hash/:device',
    summary: 'Hash a token or an accessor as it appears in the audit log',
    params: z.object({ device: z.string() }),
    body: z.object({ input: z.string().min(1) }),
    handle: async ({ params, body }) => {
      if (!devices.some(({ name }) => name === params.device))
        throw invalid(`there is no audit device ${params.device}`);
      return { data: { hash: auditHash.of(body.input) }, isFlat: true };
    },
  });
