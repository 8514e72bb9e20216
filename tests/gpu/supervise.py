"""Questions answered one after the other in a process of their own: a kernel that faults or never
ends takes that process and one answer with it, and a new process goes on."""
import collections
import multiprocessing

# Seconds for an answer; before the first, the process and the device are started.
FIRST, FOLLOWING = 120, 40
# Failures after which no more questions of a kind are asked.
PATIENCE = 3


def _serve(pipe, make, questions):
    """In the child: `make` returns what answers. A device that has failed answers no more."""
    try:
        answer = make()
        for question in questions:
            pipe.send((True, answer(*question)))
    except Exception as error:
        pipe.send((False, f"{type(error).__name__}: {error}".splitlines()[0][:200]))


def _receive(pipe, child, seconds):
    if not pipe.poll(seconds):
        return False, f"no answer in {seconds} s"
    try:
        return pipe.recv()
    except EOFError:
        child.join(10)
        return False, f"its process ended with {child.exitcode}"


def _ask_one_process(todo, make, context, first, following):
    """Takes questions from `todo` until one fails."""
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_serve, args=(there, make, list(todo)), daemon=True)
    child.start()
    there.close()
    seconds, good = first, True
    try:
        while todo and good:
            good, answer = _receive(here, child, seconds)
            yield todo.pop(0), good, answer
            seconds = following
    finally:
        child.kill()
        child.join(10)


def ask(questions, make, kind, start="spawn", first=FIRST, following=FOLLOWING):
    """Yields (question, True, answer) or (question, False, why). `make`, which can be pickled, returns
    the function of a question's arguments; `kind(question)` says which failures belong together."""
    context = multiprocessing.get_context(start)
    todo, failures = list(questions), collections.Counter()
    while todo:
        for question, good, answer in _ask_one_process(todo, make, context, first, following):
            failures[kind(question)] += not good
            yield question, good, answer
        todo = [q for q in todo if failures[kind(q)] < PATIENCE]
