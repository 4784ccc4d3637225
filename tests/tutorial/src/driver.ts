import { connected, type Driver, settingsFor } from '@secrets/sync-worker';
import { notesKv } from '../description/notes-kv.ts';
import { NotesApi } from './notes-api.ts';
import { inspectNote, listNotes, putNote, releaseNote, removeNote, type Store } from './put-note.ts';

/** The driver of notes-kv. `endpointUrl` is the operator's endpoint in place of the provider's own. */
export function notesKvDriver({ endpointUrl }: { endpointUrl?: string | undefined } = {}): Driver {
  return {
    type: notesKv.type,
    async connect(destination, { egress, prefix }) {
      const settings = settingsFor(notesKv, destination);
      const agents = egress.forDestination(destination.settings, endpointUrl);
      const notesUrl = `${endpointUrl ?? 'https://api.notes.example'}/v1/folders/${settings.folder}/notes`;
      const api = new NotesApi(notesUrl, destination.credentials.reveal().access_token ?? '', agents.fetch);
      const owner = { prefix, destinationId: destination.id };
      const store = { api, owner, settings };
      const close = () => agents.close();
      return connected<Store>(notesKv, store, {
        put: putNote,
        remove: removeNote,
        release: releaseNote,
        inspect: inspectNote,
        list: listNotes,
        close,
      });
    },
  };
}
