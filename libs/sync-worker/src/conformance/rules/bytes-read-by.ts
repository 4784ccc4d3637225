import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const channel = 'net.client.socket';

/** Returns how many bytes `act` reads from connections that it opens. */
export async function bytesReadBy(act: () => Promise<unknown>): Promise<number> {
  const opened: Socket[] = [];
  const add = (message: unknown) => void opened.push((message as { socket: Socket }).socket);
  subscribe(channel, add);
  try {
    await act();
  } finally {
    unsubscribe(channel, add);
  }
  return opened.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
}
