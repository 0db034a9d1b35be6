import type { Memory } from "../api/shapes.ts";
import { Dialog } from "../components/dialog.tsx";
import { TopicPicker } from "../components/topic-picker.tsx";

interface Props {
  memory: Memory;
  onClose: () => void;
  onPick: (focused: string) => void;
}

export function MoveDialog({ memory, onClose, onPick }: Props) {
  return (
    <Dialog title="Move to another topic" open onClose={onClose}>
      <p className="mb-3 text-ink-soft">“{memory.title}”</p>
      <TopicPicker label="New topic" without={[memory.focused_id]} onPick={onPick} />
    </Dialog>
  );
}
