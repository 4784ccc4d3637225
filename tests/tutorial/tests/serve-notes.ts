import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { simulateNotes } from '../store/simulate-notes.ts';

/** Starts the simulated store alone. `startSandbox()` does this for the stores in `simulated-stores.ts`. */
export async function serveNotes(persist: (record: object) => void = () => {}) {
  const notes = simulateNotes({ seed: 'sandbox', now: Date.now, persist });
  const server = createServer(express().use(notes.path, notes.routes));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    notes,
    notesUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${notes.path}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
