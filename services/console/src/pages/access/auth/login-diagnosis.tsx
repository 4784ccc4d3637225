import { type FormEvent, useState } from 'react';
import type { Api } from '../../../api/client.ts';
import { dataOf } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { columnsOf, DataTable } from '../../../components/lists/data-table.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { useSubmission } from '../../../session/use-submission.ts';

interface Check {
  check: string;
  passed: boolean;
  /** False if an earlier check that failed kept it from being made. */
  reached?: boolean;
  claim: string;
  values: object;
  /** Why it failed. */
  reason?: string;
}

interface Diagnosis {
  admitted: boolean;
  checks: readonly Check[];
}

const helper = columnsOf<Check>();

const outcomeOf = ({ passed, reached = true }: Check): string =>
  reached ? (passed ? 'ok' : 'failed') : 'not reached';

const columns = helper.columns([
  helper.accessor('passed', {
    header: 'Outcome',
    cell: ({ row }) => <StatusBadge status={outcomeOf(row.original)} />,
  }),
  helper.accessor('check', {
    header: 'Check',
    cell: ({ row: { original } }) => (
      <>
        {original.check}
        {original.reason && <div className="field-error">{original.reason}</div>}
      </>
    ),
  }),
  helper.accessor('values', {
    header: 'Claims of the JWT',
    cell: ({ row: { original } }) => <Claims claim={original.claim} values={original.values} />,
  }),
]);

const Claims = ({ claim, values }: { claim: string; values: object }) =>
  Object.keys(values).length === 0 ? (
    <span className="soft">{claim}</span>
  ) : (
    Object.entries(values).map(([name, value]) => (
      <div key={name}>
        <span className="soft">{name}</span> <code>{JSON.stringify(value)}</code>
      </div>
    ))
  );

const optionalFields = [
  'subscription_id',
  'resource_group_name',
  'vm_name',
  'vmss_name',
  'resource_id',
] as const;
const emptyLogin = { role: '', jwt: '', ...Object.fromEntries(optionalFields.map((name) => [name, ''])) };
type Login = Record<string, string> & { role: string; jwt: string };

/** Makes every check of a login without logging in, and shows which one refuses it. */
export function LoginDiagnosis({ mount }: { mount: string }) {
  const path = `auth/${mount}/diagnose`;
  const { may, known } = usePermissions([path]);
  const mayDiagnose = may('update', path) && may('sudo', path);
  return (
    <section aria-label="Diagnosis">
      <h2>Why is a login refused?</h2>
      {mayDiagnose && <DiagnosisForm mount={mount} />}
      {known && !mayDiagnose && (
        <NotAllowed what="This token may not diagnose logins." capability="sudo" path={path} />
      )}
    </section>
  );
}

function DiagnosisForm({ mount }: { mount: string }) {
  const api = useApi();
  const [login, setLogin] = useState<Login>(emptyLogin);
  const [diagnosis, setDiagnosis] = useState<Diagnosis>();
  const { isPending, error, run } = useSubmission();
  const set = (name: string) => (value: string) => setLogin({ ...login, [name]: value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setDiagnosis(undefined);
    run(async () => setDiagnosis(await diagnose(api, mount, login)));
  };
  return (
    <>
      <form className="stack" onSubmit={submit}>
        <TextField label="Role" value={login.role} onChange={set('role')} isRequired />
        <TextField
          label="JWT"
          type="password"
          autoComplete="off"
          help="Of the workload. Nothing is issued, and it is not kept."
          value={login.jwt}
          onChange={set('jwt')}
          isRequired
        />
        <details>
          <summary>Where the workload runs</summary>
          <div className="stack">
            {optionalFields.map((name) => (
              <TextField key={name} label={name} value={login[name] ?? ''} onChange={set(name)} />
            ))}
          </div>
        </details>
        <div>
          <Button type="submit" isPending={isPending}>
            Diagnose
          </Button>
        </div>
      </form>
      {error !== undefined && <ProblemNotice title="The login could not be diagnosed." error={error} />}
      {diagnosis && <DiagnosisResult diagnosis={diagnosis} />}
    </>
  );
}

const DiagnosisResult = ({ diagnosis: { admitted, checks } }: { diagnosis: Diagnosis }) => (
  <>
    <p className={`notice ${admitted ? 'notice-good' : 'notice-bad'}`} role="status">
      {admitted ? 'This login would succeed.' : 'This login would be refused.'}
    </p>
    <DataTable
      label="Checks"
      columns={columns}
      rows={checks}
      rowId={({ check }) => check}
      empty="Nothing was checked."
    />
  </>
);

async function diagnose(api: Api, mount: string, { role, jwt, ...where }: Login): Promise<Diagnosis> {
  const given = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== ''));
  const body = { role, jwt: jwt.trim(), ...given };
  return dataOf(await api.POST('/v1/auth/{mount}/diagnose', { params: { path: { mount } }, body }));
}
