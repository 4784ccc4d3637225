import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { count } from '../../components/inline/count.ts';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { ofSecretAddress } from './addresses.ts';
import { type SecretCursor, type SecretRef, secretId, useAssociatedSecrets } from './association-api.ts';

const listPath = 'sys/sync/associations';
const paths = [listPath];

/** The secrets that are associated with destinations. */
export function AssociationsPage() {
  const { may, known } = usePermissions(paths);
  return (
    <>
      <PageHeader title="Associations">
        Secrets that are synced to some destination. For those of one destination, and their status there,
        open the destination.
      </PageHeader>
      <div className="stack">
        <FindSecret />
        {may('list', listPath) && <AssociatedSecrets />}
        {known && !may('list', listPath) && (
          <NotAllowed what="This token may not list associated secrets." capability="list" path={listPath} />
        )}
      </div>
    </>
  );
}

function FindSecret() {
  const [secret, setSecret] = useState<SecretRef>({ mount: '', secret_name: '' });
  const [, navigate] = useLocation();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    navigate(ofSecretAddress(secret));
  };
  return (
    <form className="row find-secret" onSubmit={submit}>
      <TextField
        label="Mount"
        value={secret.mount}
        onChange={(mount) => setSecret({ ...secret, mount })}
        isRequired
      />
      <TextField
        label="Secret"
        value={secret.secret_name}
        onChange={(name) => setSecret({ ...secret, secret_name: name })}
        isRequired
      />
      <Button type="submit">Show its destinations</Button>
    </form>
  );
}

const helper = columnsOf<SecretRef>();
const columns = helper.columns([
  helper.accessor('mount', { header: 'Mount' }),
  helper.accessor('secret_name', {
    header: 'Secret',
    cell: ({ row }) => <Link href={ofSecretAddress(row.original)}>{row.original.secret_name}</Link>,
  }),
]);

function AssociatedSecrets() {
  const pages = usePages<SecretCursor>();
  const { data, error, refetch } = useAssociatedSecrets(pages.after);
  if (error && !data)
    return <ProblemNotice title="The list could not be read." error={error} onRetry={() => refetch()} />;
  if (!data) return <Loading what="the associated secrets" />;
  return (
    <>
      <p className="soft">{count(data.total, 'secret')}, counted up to 100,000</p>
      <DataTable
        label="Associated secrets"
        columns={columns}
        rows={data.secrets}
        rowId={secretId}
        empty="No secret is associated with a destination."
        footer={<PageButtons pages={pages} next={data.next} />}
      />
    </>
  );
}
