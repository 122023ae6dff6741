"""The thread pool of compiled code, as LLVM IR."""

POOL = """
define i32 @sacpy_parallel(ptr %frame, ptr %body, ptr %env, i64 %lower, i64 %upper, i64 %chunk) {
  br label %test
test:
  %i = phi i64 [%lower, %0], [%next, %round]
  %status = phi i32 [0, %0], [%got, %round]
  %more = icmp slt i64 %i, %upper
  %fine = icmp eq i32 %status, 0
  %go = and i1 %more, %fine
  br i1 %go, label %round, label %done
round:
  %next = add i64 %i, %chunk
  %beyond = icmp sgt i64 %next, %upper
  %end = select i1 %beyond, i64 %upper, i64 %next
  %got = call i32 %body(ptr %frame, ptr %env, i64 %i, i64 %end)
  br label %test
done:
  ret i32 %status
}
"""
