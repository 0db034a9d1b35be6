/** The broad graph (start page) and a topic's focused graph. */

import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Maximize, Minus, Plus, Sprout, Waypoints } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { broadQuery, edgesQuery, focusedQuery, nodeQuery } from "../../api/queries.ts";
import { IconButton } from "../../components/button.tsx";
import { Link } from "../../components/link.tsx";
import { Blank, Connect, Failed } from "../../components/states.tsx";
import { LOOKS, TEMPERATURES, TemperatureMark } from "../../components/temperature.tsx";
import { useDark, useKept, usePhone, useReducedMotion } from "../../kept.ts";
import { go, type Place } from "../../route.ts";
import { lastOpened, memories } from "../../words.ts";
import { NewTopic } from "../node-dialogs.tsx";
import { GraphCanvas } from "./canvas.ts";
import { RINGS } from "./paint.ts";
import { topicScene, topicsScene, towards, type Scene, type SceneNode } from "./scene.ts";

function useScene(place: Place) {
  const topicId = place.at === "all" ? "" : place.broad;
  const inTopic = topicId !== "";
  const broad = useQuery(broadQuery);
  const topic = useQuery({ ...nodeQuery("broad", topicId), enabled: inTopic });
  const focused = useQuery({ ...focusedQuery(topicId), enabled: inTopic });
  const edges = useQuery(edgesQuery(inTopic ? topicId : null));
  const scene = useMemo<Scene | null>(() => {
    if (!broad.data) return null;
    if (!inTopic) return topicsScene(broad.data, edges.data ?? []);
    if (!topic.data || !focused.data || !edges.data) return null;
    return topicScene(topic.data, focused.data, edges.data, broad.data);
  }, [inTopic, broad.data, topic.data, focused.data, edges.data]);
  const failed = [broad, topic, focused, edges].find((query) => query.error);
  return { scene, failed, topic: topic.data };
}

export default function Graph({ place }: { place: Place }) {
  const { scene, failed, topic } = useScene(place);
  const still = useReducedMotion();
  const dark = useDark();
  const box = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const canvas = useRef<GraphCanvas | null>(null);
  const [hovered, setHovered] = useState<SceneNode | null>(null);
  const [made, setMade] = useState(false);
  const [adding, setAdding] = useState(false);
  const name = place.at === "all" ? "all" : place.broad;
  const selected = place.at === "focused" ? place.focused : null;
  const empty = scene !== null && scene.nodes.length === 0;

  const enterRef = useRef<(node: SceneNode) => void>(() => undefined);
  enterRef.current = (node) => {
    setHovered(null);
    canvas.current?.enter(node, () => go(node.href));
  };

  useEffect(() => {
    const element = box.current;
    if (!element || empty || made === false) return;
    const graph = new GraphCanvas(
      element,
      {
        hover: setHovered,
        enter: (node) => enterRef.current(node),
        moved: (at) => {
          if (!card.current || !at) return;
          const flip = at.x > element.clientWidth - 300;
          const x = flip ? at.x - at.r - 14 : at.x + at.r + 14;
          const shift = flip ? "translateX(-100%)" : "";
          card.current.style.transform = `translate(${x}px, ${at.y - 24}px) ${shift}`;
        },
      },
      still,
    );
    canvas.current = graph;
    const sizes = new ResizeObserver(() => graph.resize(element.clientWidth, element.clientHeight));
    sizes.observe(element);
    graph.resize(element.clientWidth, element.clientHeight);
    return () => {
      sizes.disconnect();
      graph.close();
      canvas.current = null;
    };
  }, [still, empty, made]);

  // The first canvas is made once there is something to draw, so that the page's words come first.
  useEffect(() => {
    if (scene && !made) setMade(true);
  }, [scene, made]);
  useEffect(() => {
    if (scene && made) canvas.current?.show(scene, name);
  }, [scene, name, made, still]);
  useEffect(() => canvas.current?.select(selected), [selected, made, scene]);
  useEffect(() => canvas.current?.recolor(), [dark]);

  if (failed?.error) return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  return (
    <div className="relative min-h-0 grow overflow-hidden">
      {empty ? (
        <div className="flex h-full flex-col justify-center">
          {place.at === "all" ? (
            <Blank icon={Sprout} title="Your memory is empty so far">
              <Connect />
            </Blank>
          ) : (
            <Blank icon={Sprout} title={`Nothing in ${topic?.name ?? "this topic"} yet`}>
              <p>
                It fills when an AI saves a conversation about it, or when you put a note into a
                folder within it.
              </p>
            </Blank>
          )}
        </div>
      ) : (
        <>
          <div ref={box} className="graph absolute inset-0" aria-hidden />
          {scene && (
            <NodeList
              scene={scene}
              label={place.at === "all" ? "Topics" : `Within ${topic?.name ?? "this topic"}`}
              light={(node) => {
                canvas.current?.light(node?.id ?? null);
                if (node) canvas.current?.reveal(node.id);
                setHovered(node);
              }}
              enter={(node) => enterRef.current(node)}
            />
          )}
          <div ref={card} className="pointer-events-none absolute top-0 left-0 z-10">
            {hovered && <NodeCard node={hovered} />}
          </div>
          {scene && place.at !== "all" && scene.links.length === 0 && (
            <p className="absolute inset-x-0 top-4 text-center text-[14px] text-ink-quiet">
              No connections yet. Open a topic’s details to add one.
            </p>
          )}
          <Legend topic={place.at !== "all"} />
        </>
      )}
      <div className="absolute right-3 bottom-3 flex flex-col gap-1 rounded-xl border border-line bg-raised p-1 shadow-card">
        <IconButton
          label={place.at === "all" ? "New topic" : `New topic within ${topic?.name ?? "this one"}`}
          icon={Plus}
          onClick={() => setAdding(true)}
        />
        {!empty && (
          <>
            <hr className="mx-1 border-line" />
            <ZoomButtons canvas={canvas} />
          </>
        )}
      </div>
      {adding && <NewTopic parent={topic ?? null} onClose={() => setAdding(false)} />}
    </div>
  );
}

function ZoomButtons({ canvas }: { canvas: React.RefObject<GraphCanvas | null> }) {
  return (
    <>
      <IconButton label="Fit everything in" icon={Maximize} onClick={() => canvas.current?.fit()} />
      <IconButton
        label="Zoom out"
        icon={Minus}
        className="max-sm:hidden"
        onClick={() => canvas.current?.zoom(1 / 1.4)}
      />
    </>
  );
}

function NodeCard({ node }: { node: SceneNode }) {
  const held = node.node;
  return (
    <div className="w-64 rounded-xl border border-line bg-raised px-3.5 py-2.5 text-[14px] shadow-float">
      <p className="font-semibold">{node.name}</p>
      {held ? (
        <>
          {held.description && <p className="mt-0.5 line-clamp-2 text-ink-soft">{held.description}</p>}
          <p className="mt-1.5 flex flex-wrap gap-x-3 text-[13px] text-ink-quiet tabular-nums">
            <TemperatureMark value={held.temperature} />
            <span>{memories(held.counts.memories)}</span>
            {held.kind === "broad" && <span>{held.focused} within</span>}
          </p>
          <p className="mt-0.5 text-[13px] text-ink-quiet">{lastOpened(held.last_accessed)}</p>
        </>
      ) : (
        <p className="text-[13px] text-ink-quiet">In another topic</p>
      )}
    </div>
  );
}

interface ListProps {
  scene: Scene;
  label: string;
  light: (node: SceneNode | null) => void;
  enter: (node: SceneNode) => void;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The graph for keyboards and screen readers: one link a node, lit in the picture when focused. */
function NodeList({ scene, label, light, enter }: ListProps) {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);

  function press(event: KeyboardEvent, node: SceneNode) {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const next = towards(node, scene.nodes, arrow[0], arrow[1]);
    if (!next) return;
    const index = scene.nodes.indexOf(next);
    setAt(index);
    list.current?.querySelectorAll("a")[index]?.focus();
  }

  return (
    <nav aria-label={label} className="sr-only">
      <ul ref={list}>
        {scene.nodes.map((node, index) => (
          <li key={node.id}>
            <Link
              href={node.href}
              tabIndex={index === Math.min(at, scene.nodes.length - 1) ? 0 : -1}
              onFocus={() => light(node)}
              onBlur={() => light(null)}
              onKeyDown={(event) => press(event, node)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                enter(node);
              }}
            >
              {node.name}
              {node.node
                ? `, ${memories(node.node.counts.memories)}, ${LOOKS[node.temperature].word.toLowerCase()}`
                : ", in another topic"}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Legend({ topic }: { topic: boolean }) {
  const phone = usePhone();
  const [open, setOpen] = useKept("legend", phone ? "closed" : "open");
  return (
    <div className="absolute bottom-3 left-3 rounded-xl border border-line bg-raised text-[13px] text-ink-soft shadow-card">
      <button
        type="button"
        aria-expanded={open === "open"}
        onClick={() => setOpen(open === "open" ? "closed" : "open")}
        className="flex w-full items-center gap-2 rounded-xl px-3 py-1.5 font-medium"
      >
        <Waypoints aria-hidden size={14} />
        Legend
        <ChevronDown aria-hidden size={14} className={`ml-auto ${open === "open" ? "" : "rotate-180"}`} />
      </button>
      {open === "open" && (
        <ul className="space-y-1 px-3 pb-2.5">
          {TEMPERATURES.map((name) => {
            const { word, icon: Icon, className } = LOOKS[name];
            const ring = RINGS[name];
            return (
              <li key={name} className={`flex items-center gap-2 ${className}`}>
                <svg aria-hidden width="18" height="18" viewBox="0 0 18 18">
                  <circle cx="9" cy="9" r="7" fill="none" stroke="currentColor" strokeWidth={ring.width} strokeDasharray={ring.dash.join(" ")} />
                </svg>
                <Icon aria-hidden size={13} />
                {word}
              </li>
            );
          })}
          {topic && (
            <li className="flex items-center gap-2 pt-1">
              <svg aria-hidden width="18" height="10" viewBox="0 0 18 10" stroke="currentColor">
                <path d="M0 2.5h18" strokeWidth="2.5" />
                <path d="M0 8h18" strokeWidth="1.2" strokeDasharray="3 3" />
              </svg>
              Said by you, found in text
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

