/** Text whose matches stand between U+E000 and U+E001, as search answers it. */

import type { ReactNode } from "react";

export function marked(text: string): ReactNode[] {
  return text.split(/(\uE000[^\uE001]*\uE001?)/).map((piece, at) =>
    piece.startsWith("\uE000") ? (
      <mark key={at}>{piece.slice(1).replace("\uE001", "")}</mark>
    ) : (
      piece.replace("\uE001", "")
    ),
  );
}
