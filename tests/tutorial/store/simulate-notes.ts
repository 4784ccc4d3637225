import express, { type Request, type RequestHandler, type Response } from 'express';
import { FaultInjector } from '../../../services/sandbox/src/faults/fault-injector.ts';
import { CallLog } from '../../../services/sandbox/src/simulation/call-log.ts';
import { type ErrorResponses, retryAfter } from '../../../services/sandbox/src/simulation/http-response.ts';
import { serveCall } from '../../../services/sandbox/src/simulation/serve-call.ts';
import type { SimulationContext } from '../../../services/sandbox/src/simulation/simulation.ts';
import type { SimulatedStore, StoredSecret } from '../../../services/sandbox/src/stores/simulated-store.ts';
import { changeByHand } from './change-by-hand.ts';
import { failure, noteOperations } from './note-operations.ts';
import { type Note, type NoteRecord, NoteStore } from './note-store.ts';

interface Notes extends SimulatedStore {
  readonly credentials: Readonly<{ accessToken: string }>;
}

/** Simulates the notes API. */
export function simulateNotes({ seed, now, persist }: SimulationContext): Notes {
  const store = new NoteStore(persist, now);
  const faults = new FaultInjector(now);
  const calls = new CallLog();
  const accessToken = `notes-${seed}`;
  const handle: Handler = (operation) => (request, response) => {
    const { body = {}, query, headers } = request;
    const { folder = '', id = '' } = request.params as Record<string, string>;
    const name = body.name ?? query.name ?? store.get(id)?.name;
    const call = { operation, name, region: folder, sent: Object.keys(body) };
    return serveCall({ store: 'notes-kv', faults, calls, now, errors }, call, response, (lag) => {
      if (headers.authorization !== `Bearer ${accessToken}`) return failure(401, 'InvalidToken');
      const idempotencyKey = request.get('idempotency-key');
      const updatedAt = new Date(now()).toISOString();
      const input = { folder, id, name: query.name, body, idempotencyKey, updatedAt, lag };
      return noteOperations[operation](store, input);
    });
  };
  return {
    name: 'notes-kv',
    path: '/notes',
    routes: notesRoutes(handle),
    faults,
    credentials: { accessToken },
    calls: () => calls.list(),
    secrets: () => store.all().map(storedSecret),
    changeByHand: (change) => changeByHand(store, change, now()),
    reset() {
      faults.clear();
      calls.clear();
      store.change({ cleared: true });
    },
    replay: (record) => store.replay(record as NoteRecord),
    snapshot: () => store.all().map((note) => ({ note })),
  };
}

type Handler = (
  operation: keyof typeof noteOperations,
) => (request: Request, response: Response) => Promise<void>;

function notesRoutes(handle: Handler): RequestHandler {
  const path = '/v1/folders/:folder/notes';
  const routes = express.Router();
  routes.use(express.json({ limit: '100kb' }));
  routes.post(path, handle('CreateNote'));
  routes.get(path, handle('FindNote'));
  routes.get(`${path}/all`, handle('ListNotes'));
  routes.patch(`${path}/:id`, handle('ChangeNote'));
  routes.delete(`${path}/:id`, handle('DeleteNote'));
  return routes;
}

const storedSecret = ({ name, folder, text, tags, writes, updatedAt }: Note): StoredSecret => ({
  name,
  region: folder,
  value: text,
  tags,
  version_count: writes,
  deleted_at: null,
  updated_at: updatedAt,
});

const errors: ErrorResponses = {
  throttled: (seconds) => failure(429, 'TooManyRequests', { headers: retryAfter(seconds) }),
  error: (status, code, message) => failure(status, code, { message }),
  serverError: () => failure(500, 'InternalError'),
  invalidSignature: () => failure(401, 'InvalidToken'),
};
