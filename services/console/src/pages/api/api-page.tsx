import { useState } from 'react';
import { Link } from 'wouter';
import { TextField } from '../../components/fields/text-field.tsx';
import { NameList } from '../../components/lists/name-list.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { type Operation, search } from './operations.ts';
import { operationHref, useDescription } from './queries.ts';

/** The operations of the API, to search. */
export function ApiPage() {
  const { data, error, refetch } = useDescription();
  const [text, setText] = useState('');
  return (
    <>
      <PageHeader title="API">
        Every operation, as this service{data && ` (version ${data.version})`} describes it.
      </PageHeader>
      {error && <ProblemNotice title="The description could not be read." error={error} onRetry={refetch} />}
      {data === undefined && !error && <Loading what="the description" />}
      {data && (
        <>
          <TextField
            label="Search"
            help="Words of the method, the path or the summary."
            value={text}
            onChange={setText}
          />
          <Operations operations={search(data.operations, text)} />
        </>
      )}
    </>
  );
}

function Operations({ operations }: { operations: readonly Operation[] }) {
  const byTag = Object.entries(Object.groupBy(operations, ({ tag }) => tag));
  return (
    <>
      <p role="status">{operations.length} operations</p>
      {byTag.map(([tag, of = []]) => (
        <section key={tag} aria-label={tag}>
          <h2>{tag}</h2>
          <OperationList tag={tag} operations={of} />
        </section>
      ))}
    </>
  );
}

function OperationList({ tag, operations }: { tag: string; operations: readonly Operation[] }) {
  const byName = new Map(operations.map((operation) => [`${operation.method} ${operation.path}`, operation]));
  return (
    <NameList
      label={`Operations of ${tag}`}
      names={[...byName.keys()]}
      empty="None."
      row={(name) => {
        const operation = byName.get(name);
        return (
          operation && (
            <>
              <Link href={operationHref(operation)}>
                <code>{name}</code>
              </Link>
              <div className="soft">{operation.summary}</div>
            </>
          )
        );
      }}
    />
  );
}
