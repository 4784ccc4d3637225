import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Api } from '../../../api/client.ts';
import { dataOf } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { columnsOf, DataTable } from '../../../components/lists/data-table.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useApi } from '../../../session/session.ts';

interface Granted {
  path: string;
  capabilities: readonly string[];
}

const helper = columnsOf<Granted>();

const columns = helper.columns([
  helper.accessor('path', { header: 'Path', cell: ({ row }) => <code>{row.original.path}</code> }),
  helper.accessor('capabilities', {
    header: 'Capabilities',
    cell: ({ row }) => row.original.capabilities.join(', '),
  }),
]);

/** Asks what a token may do on paths: this one or, by its accessor, another one. */
export function CapabilityCheck() {
  const api = useApi();
  const [accessor, setAccessor] = useState('');
  const [text, setText] = useState('');
  const check = useMutation({ mutationFn: () => readCapabilities(api, accessor.trim(), pathsOf(text)) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    check.mutate();
  };
  return (
    <section aria-label="Check">
      <h2>What may a token do?</h2>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Paths"
          help="One per line, below /v1/, such as secret/data/shop/db."
          rows={4}
          value={text}
          onChange={setText}
          isRequired
        />
        <TextField
          label="Accessor"
          help="Of another token; empty for this one."
          value={accessor}
          onChange={setAccessor}
        />
        <div>
          <Button type="submit" isPending={check.isPending}>
            Check
          </Button>
        </div>
      </form>
      {check.error && <ProblemNotice title="This could not be checked." error={check.error} />}
      {check.data && (
        <DataTable
          label="Capabilities"
          columns={columns}
          rows={check.data}
          rowId={({ path }) => path}
          empty="Enter at least one path."
        />
      )}
    </section>
  );
}

const pathsOf = (text: string): string[] => {
  const lines = text.split('\n').map((line) => line.trim().replace(/^\/?(v1\/)?/, ''));
  return [...new Set(lines)].filter((line) => line !== '');
};

async function readCapabilities(api: Api, accessor: string, paths: string[]): Promise<Granted[]> {
  if (paths.length === 0) return [];
  const byPath =
    accessor === ''
      ? dataOf(await api.POST('/v1/sys/capabilities-self', { body: { paths } }))
      : dataOf(await api.POST('/v1/sys/capabilities-accessor', { body: { accessor, paths } }));
  return paths.map((path) => ({ path, capabilities: byPath[path] ?? [] }));
}
