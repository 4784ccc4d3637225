import { Link, useSearchParams } from 'wouter';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { CodeText } from './code-text.tsx';
import { FieldTable } from './field-table.tsx';
import type { Operation, Schema } from './operations.ts';
import { useDescription } from './queries.ts';
import { TryOut } from './try-out.tsx';

/** One operation: what it takes and returns, and a form that sends it. */
export function OperationPage() {
  const [params] = useSearchParams();
  const [method, path] = [params.get('method'), params.get('path')];
  const { data, error } = useDescription();
  const operation = data?.operations.find((one) => one.method === method && one.path === path);
  return (
    <>
      <nav aria-label="Above">
        <Link href="/api">All operations</Link>
      </nav>
      <PageHeader title={`${method} ${path}`}>{operation?.summary}</PageHeader>
      {error && <ProblemNotice title="The description could not be read." error={error} />}
      {data === undefined && !error && <Loading what="the description" />}
      {data && operation === undefined && <p className="empty">This service has no such operation.</p>}
      {operation && <Details operation={operation} />}
    </>
  );
}

const Details = ({ operation }: { operation: Operation }) => (
  <>
    <FieldTable
      title="Parameters"
      fields={operation.parameters.map(({ name, in: place, required, schema }) => ({
        name,
        note: place,
        schema,
        isRequired: required ?? false,
      }))}
    />
    <FieldTable title="Fields of the body" fields={fieldsOf(operation.body?.schema)} />
    <TryOut operation={operation} />
    {operation.response?.example !== undefined && (
      <>
        <h2>Example of a response</h2>
        <CodeText label="Example" text={JSON.stringify(operation.response.example, undefined, 2)} />
      </>
    )}
  </>
);

const fieldsOf = (schema: Schema | undefined) =>
  Object.entries(schema?.properties ?? {}).map(([name, of]) => ({
    name,
    note: undefined,
    schema: of,
    isRequired: schema?.required?.includes(name) ?? false,
  }));
