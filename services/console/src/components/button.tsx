import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import './button.css';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'isPending' | 'onPress'> {
  /** `danger` for what cannot be undone. Default: `plain`. */
  kind?: 'plain' | 'primary' | 'danger';
  /** Its action is in progress: the button keeps the focus, and ignores presses. */
  isPending?: boolean;
  onPress?: () => void;
}

/**
 * A button. The `isPending` of react-aria is not used: it announces the end of the action with a reference to the
 * button, which often is gone by then.
 */
export function Button({
  kind = 'plain',
  isPending = false,
  type = 'button',
  onPress,
  ...rest
}: ButtonProps) {
  return (
    <>
      <AriaButton
        {...rest}
        className={`button button-${kind} ${isPending ? 'button-pending' : ''}`}
        type={isPending ? 'button' : type}
        {...(isPending && { 'aria-disabled': true })}
        onPress={() => !isPending && onPress?.()}
      />
      {isPending && (
        <span className="visually-hidden" role="status">
          In progress
        </span>
      )}
    </>
  );
}
