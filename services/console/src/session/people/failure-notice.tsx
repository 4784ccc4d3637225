import '../../components/notice.css';
import type { Explanation } from './explain-failure.ts';

/** Why a sign-in has failed. */
export const FailureNotice = ({ title, sentences }: Explanation) => (
  <div className="notice notice-bad" role="alert">
    <p>
      <strong>{title}</strong>
    </p>
    {sentences.map((sentence) => (
      <p key={sentence}>{sentence.charAt(0).toUpperCase() + sentence.slice(1)}</p>
    ))}
  </div>
);
