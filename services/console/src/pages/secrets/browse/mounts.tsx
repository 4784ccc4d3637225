import { Link } from 'wouter';
import { Loading } from '../../../components/loading.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useMounts } from '../queries.ts';
import { folderHref } from '../secret-links.ts';
import { NewMount } from './new-mount.tsx';

/** The mounts, and a form for another one. */
export function Mounts() {
  const { data, error, refetch } = useMounts();
  if (error) return <ProblemNotice title="The mounts could not be read." error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading what="the mounts" />;
  return (
    <>
      <h2>Mounts</h2>
      {data.length === 0 ? (
        <p className="empty">There is no mount in which this token has a right.</p>
      ) : (
        <ul className="names">
          {data.map(({ path, description }) => (
            <li key={path}>
              <Link href={folderHref(path)}>{path}</Link> <span className="soft">{description}</span>
            </li>
          ))}
        </ul>
      )}
      <NewMount />
    </>
  );
}
