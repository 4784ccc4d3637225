import type { ReactNode } from 'react';
import { ApiProblem, Refusal } from '../api/problem.ts';
import { Button } from './button.tsx';
import './notice.css';

interface ProblemNoticeProps {
  /** What failed, as a noun or a sentence, such as “The destinations could not be read.” */
  title: string;
  error: unknown;
  /** Offers to try again. */
  onRetry?: () => void;
}

/** Why a request failed, in the words of the service. A refusal names the capability and the path that the token lacks. */
export function ProblemNotice({ title, error, onRetry }: ProblemNoticeProps) {
  return (
    <div className="notice notice-bad" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {explanations(error).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {refusal(error)}
      {onRetry && <Button onPress={onRetry}>Try again</Button>}
    </div>
  );
}

function explanations(error: unknown): readonly string[] {
  if (error instanceof Refusal) return [error.message];
  if (!(error instanceof ApiProblem)) return ['The service did not respond, or its response was not usable.'];
  const later = error.retryAfterSeconds;
  return [
    ...(error.sentences.length > 0 ? error.sentences : [error.message]),
    ...(later === undefined ? [] : [`Try again in ${later} s.`]),
  ];
}

function refusal(error: unknown): ReactNode {
  if (!(error instanceof ApiProblem) || error.status !== 403) return null;
  return <Requirement capability={error.capability} path={error.path} />;
}

/** Names what the token needs. */
const Requirement = ({ capability, path }: { capability: string; path: string }) => (
  <p>
    This needs the capability <code>{capability}</code> on <code>{path}</code>.
  </p>
);

/** Says that a part of a page is left out because the token may not see it. */
export const NotAllowed = ({
  what,
  capability,
  path,
}: {
  what: string;
  capability: string;
  path: string;
}) => (
  <div className="notice">
    <p>{what}</p>
    <Requirement capability={capability} path={path} />
  </div>
);
